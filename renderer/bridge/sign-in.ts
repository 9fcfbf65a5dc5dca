/** Trades the token of the opened address (`#token=…`) for the cookie, and takes it out of the address bar. */
export async function signIn(): Promise<void> {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (!token) return;
  history.replaceState(null, '', '#/');
  await fetch('/auth', { method: 'POST', headers: { Authorization: `Bearer ${decodeURIComponent(token)}` } });
}

/** False when the server says that this browser holds no valid cookie; true also when it cannot be asked. */
export async function isSignedIn(): Promise<boolean> {
  try {
    return (await fetch('/auth')).status !== 401;
  } catch {
    return true;
  }
}
