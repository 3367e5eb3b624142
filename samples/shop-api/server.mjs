import { createServer } from 'node:http';
import { handle } from './src/routes.ts';

const server = createServer(async (req, res) => {
  const response = handle(new Request(new URL(req.url ?? '/', 'http://localhost'), { method: req.method }));
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
});
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  console.log(`shop-api listens on http://127.0.0.1:${server.address().port}/orders`);
});
