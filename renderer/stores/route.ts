import { create } from 'zustand';
import { parseRoute, type Route, routeHref } from '../logic/routes.js';

interface RouteStore {
  route: Route;
}

export const useRoute = create<RouteStore>()(() => ({ route: parseRoute(location.hash) }));

export function goTo(route: Route): void {
  location.hash = routeHref(route);
}

/** Follows the address bar; returns the function that ends it. */
export function watchRoute(): () => void {
  const follow = (): void => useRoute.setState({ route: parseRoute(location.hash) });
  follow();
  window.addEventListener('hashchange', follow);
  return () => window.removeEventListener('hashchange', follow);
}
