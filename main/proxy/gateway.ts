/** The gateway: the loopback port, the worker sockets, and the calls that steer them. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { Handlers } from '../services/rpc.js';
import type { Store } from '../store/store.js';
import { checkLocal } from './access.js';
import type { GatewayCalls, GatewayMethod } from './protocol.js';
import { identifyUser, ProxyServer } from './proxy-server.js';
import type { ProxyServices } from './services.js';
import type { StoreRoutes } from './store-routes.js';
import { Workers } from './workers.js';

type GatewayHandlers = {
  [M in GatewayMethod]: (
    params: GatewayCalls[M]['params'],
  ) => GatewayCalls[M]['result'] | Promise<GatewayCalls[M]['result']>;
};

export class Gateway {
  readonly #server: ProxyServer;
  readonly #workers: Workers;
  #port = 0;

  constructor(
    services: ProxyServices,
    private readonly store: Store,
    private readonly routes: StoreRoutes,
  ) {
    this.#server = new ProxyServer(services, identifyUser(services), checkLocal);
    this.#workers = new Workers(services);
  }

  /** Listens on 127.0.0.1; 0 takes a free port. Returns the port. Throws PORT_IN_USE. */
  async listen(port: number): Promise<number> {
    const { http } = this.#server;
    await new Promise<void>((resolve, reject) => {
      http.once('error', (cause: NodeJS.ErrnoException) =>
        reject(
          cause.code === 'EADDRINUSE'
            ? new TackroomError(
                'PORT_IN_USE',
                `Port ${port} is in use by another program.`,
                'Choose another one with --port, or stop that program.',
              )
            : cause,
        ),
      );
      http.listen(port, '127.0.0.1', resolve);
    });
    const address = http.address();
    this.#port = typeof address === 'object' && address ? address.port : port;
    return this.#port;
  }

  handlers(): Handlers {
    const handlers: GatewayHandlers = {
      status: () => ({
        port: this.#port,
        pid: process.pid,
        sessions: this.store.session.count(),
        requests: this.store.request.count(),
        workers: this.#workers.names(),
      }),
      'routes.reload': () => {
        this.routes.reload();
        return null;
      },
      'vault.unlock': ({ key }) => {
        this.routes.unlock(Buffer.from(z.base64().max(100).parse(key), 'base64'));
        return null;
      },
      'worker.open': async ({ worker, path }) => {
        await this.#workers.open(worker, path);
        return null;
      },
      'worker.begin': (session) => {
        this.#workers.begin(session);
        return null;
      },
      'worker.end': ({ worker }) => this.#workers.end(worker),
      'worker.close': async ({ worker }) => {
        await this.#workers.close(worker);
        return null;
      },
    };
    return handlers;
  }

  /** Hangs up, records what was open as cancelled, removes the sockets. */
  async close(): Promise<void> {
    await Promise.all([this.#server.close(), this.#workers.closeAll()]);
  }
}
