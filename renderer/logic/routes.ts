/** Addresses of the screens: the part after `#`. */
export type Route =
  | { screen: 'home' }
  | { screen: 'sessions' }
  | { screen: 'session'; id: string }
  | { screen: 'runs' }
  | { screen: 'run'; id: string }
  | { screen: 'adapters' }
  | { screen: 'connect' };

export function parseRoute(hash: string): Route {
  const [name, rawId] = hash.replace(/^#\/?/, '').split('/');
  const id = decode(rawId);
  if (name === 'sessions') return id ? { screen: 'session', id } : { screen: 'sessions' };
  if (name === 'runs') return id ? { screen: 'run', id } : { screen: 'runs' };
  if (name === 'adapters' || name === 'connect') return { screen: name };
  return { screen: 'home' };
}

export function routeHref(route: Route): string {
  switch (route.screen) {
    case 'home':
      return '#/';
    case 'session':
      return `#/sessions/${encodeURIComponent(route.id)}`;
    case 'run':
      return `#/runs/${encodeURIComponent(route.id)}`;
    default:
      return `#/${route.screen}`;
  }
}

function decode(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return '';
  }
}
