// Runs before the first paint, so that a chosen theme never flashes the other one. Without a choice the system decides.
try {
  const chosen = localStorage.getItem('tackroom.theme');
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be switched off; the system's theme is used.
}
