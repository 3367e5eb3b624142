import { findOrder, listOrders } from './orders.ts';

/** The whole API: GET /orders?cursor=… and GET /orders/:id. */
export function handle(request: Request): Response {
  const url = new URL(request.url);
  if (request.method !== 'GET') return problem(405, 'This API only reads.');
  if (url.pathname === '/orders') return Response.json(listOrders(url.searchParams.get('cursor')));
  const [, id] = /^\/orders\/([\w-]+)$/.exec(url.pathname) ?? [];
  const order = id === undefined ? undefined : findOrder(id);
  return order ? Response.json(order) : problem(404, `There is no ${url.pathname}.`);
}

function problem(status: number, title: string): Response {
  return Response.json({ status, title }, { status, headers: { 'content-type': 'application/problem+json' } });
}
