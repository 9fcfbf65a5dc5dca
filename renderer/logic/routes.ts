/** Addresses of the screens: the part after `#`. */
export type Route =
  | { screen: 'home' }
  | { screen: 'sessions' }
  /** `request`: the step to show. */
  | { screen: 'session'; id: string; request?: string }
  | { screen: 'guard' }
  | { screen: 'clean' }
  | { screen: 'clean-session'; id: string }
  | { screen: 'runs' }
  | { screen: 'run'; id: string }
  | { screen: 'adapters' }
  | { screen: 'connect' }
  | { screen: 'recording' };

export function parseRoute(hash: string): Route {
  const [name, rawId, rawRequest] = hash.replace(/^#\/?/, '').split('/');
  const id = decode(rawId);
  const request = decode(rawRequest);
  if (name === 'sessions') return id ? { screen: 'session', id, ...(request && { request }) } : { screen: 'sessions' };
  if (name === 'guard') return { screen: 'guard' };
  if (name === 'clean') return id ? { screen: 'clean-session', id } : { screen: 'clean' };
  if (name === 'runs') return id ? { screen: 'run', id } : { screen: 'runs' };
  if (name === 'adapters' || name === 'connect' || name === 'recording') return { screen: name };
  return { screen: 'home' };
}

export function routeHref(route: Route): string {
  switch (route.screen) {
    case 'home':
      return '#/';
    case 'session':
      return `#/sessions/${[route.id, route.request].flatMap((part) => (part ? encodeURIComponent(part) : [])).join('/')}`;
    case 'clean-session':
      return `#/clean/${encodeURIComponent(route.id)}`;
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
