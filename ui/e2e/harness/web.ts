/** A server on this machine that workflows ask, and that counts what it was asked. */
import { createServer } from 'node:http';

export interface Web {
  url: (path: string) => string;
  /** Paths in the order in which they were asked for. */
  asked: string[];
  close: () => Promise<void>;
}

/** `/once/…` is refused the first time; everything else is answered with its path. */
export function startWeb(): Promise<Web> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const refused = path.startsWith('/once/') && !asked.includes(path);
    asked.push(path);
    response.writeHead(refused ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refused ? { error: 'not yet' } : { path, price: 40 }));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      resolve({
        url: (path) => `http://127.0.0.1:${port}${path}`,
        asked,
        close: () => new Promise((done) => server.close(() => done())),
      });
    });
  });
}
