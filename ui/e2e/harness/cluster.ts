/** A private RabbitMQ and Redis for one file of tests, and who works on them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Server as Listening, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from './eventually';
import { binary } from './place';
import { Process } from './process';
import { type Stage, byId } from './stage';

const SERVERS = resolve(import.meta.dirname, '../../../.make/with-servers');
const LIFE_SECONDS = 900;
const SERVER_LIMIT_MILLIS = 60_000;

export type Server = 'RabbitMQ' | 'Redis';

export class Cluster {
  readonly runeglass = binary('RUNEGLASS_BIN', '../target/debug/runeglass');
  readonly amqp: string;
  readonly redis: string;
  /** For what is written in passing; gone with the cluster. */
  readonly folder = mkdtempSync(join(tmpdir(), 'runeglass-cluster-'));
  private readonly servers: Process;
  /** Where the servers live, and what starts them. */
  private readonly home: string;
  private readonly others = new Set<Process>();

  private constructor(servers: Process, home: string, amqp: string, redis: string) {
    this.servers = servers;
    this.home = home;
    this.amqp = amqp;
    this.redis = redis;
  }

  static async start(): Promise<Cluster> {
    const servers = new Process(SERVERS, ['bash', '-c', `echo "at $RUNEGLASS_AMQP and $RUNEGLASS_REDIS in $RUNEGLASS_SERVERS"; exec sleep ${LIFE_SECONDS}`]);
    const said = await servers.says(/(at amqp:\S+ and \S+ in \S+)/, SERVER_LIMIT_MILLIS);
    const [, amqp = '', redis = '', home = ''] = /at (\S+) and (\S+) in (\S+)/.exec(said) ?? [];
    return new Cluster(servers, home, amqp, redis);
  }

  get addresses(): string[] {
    return ['--amqp', this.amqp, '--redis', this.redis];
  }

  /** Something of ours that serves this cluster until it is ended, or the cluster is. */
  serve(...args: string[]): Process {
    const process = new Process(this.runeglass, [...args, ...this.addresses]);
    this.others.add(process);
    return process;
  }

  worker(): Process {
    return this.serve('worker', '--concurrency', '10');
  }

  /** Starts a workflow there, as somebody else would; says its id. */
  run(name: string, workflow: object): string {
    const file = join(this.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(workflow));
    return execFileSync(this.runeglass, ['run', file, '--detach', ...this.addresses], { encoding: 'utf8' }).trim();
  }

  /** Fills the open dialog in. */
  async fill({ page }: Stage, password: string): Promise<void> {
    await page.getByLabel('Name').fill('production');
    await page.getByRole('radio', { name: 'Red' }).check();
    await page.getByLabel('RabbitMQ', { exact: true }).fill(this.amqp.replace('guest:guest', 'guest'));
    await page.getByLabel('RabbitMQ password').fill(password);
    await page.getByLabel('Redis', { exact: true }).fill(this.redis);
  }

  async attach(stage: Stage): Promise<void> {
    await stage.page.click(byId('attach'));
    await this.fill(stage, 'guest');
    await stage.page.click(byId('attach-now'));
    await stage.shown(byId('live-banner'), 30_000);
  }

  /** Ends a server of the cluster, by the id of its process that it has written down. */
  async stop(server: Server): Promise<void> {
    const written = join(this.home, `${server}.pid`);
    process.kill(Number(readFileSync(written, 'utf8').trim()), 'SIGTERM');
    await eventually(`${server} to be gone`, SERVER_LIMIT_MILLIS, async () => ((await this.answers(server)) ? null : true), () => this.servers.output);
    rmSync(written, { force: true });
  }

  /** … and starts it again, with what it has kept. */
  async restart(server: Server): Promise<void> {
    this.others.add(new Process(join(this.home, `start-${server}`), []));
    await eventually(`${server} to be back`, SERVER_LIMIT_MILLIS, async () => ((await this.answers(server)) ? true : null), () => this.servers.output);
  }

  private answers(server: Server): Promise<boolean> {
    const port = Number(new URL(server === 'RabbitMQ' ? this.amqp : this.redis).port);
    return new Promise((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => {
        socket.destroy();
        done(true);
      });
      socket.on('error', () => done(false));
    });
  }

  async end(): Promise<void> {
    await Promise.all([...this.others].map((each) => each.end()));
    await this.servers.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A way to a server of this machine that can be cut. */
export class Way {
  readonly port: number;
  private readonly server: Listening;
  private readonly sockets: Set<Socket>;
  private open = true;

  private constructor(server: Listening, sockets: Set<Socket>, port: number) {
    this.server = server;
    this.sockets = sockets;
    this.port = port;
  }

  static to(target: number): Promise<Way> {
    return new Promise((done) => {
      const sockets = new Set<Socket>();
      const server = createServer();
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        const way = new Way(server, sockets, typeof address === 'object' && address ? address.port : 0);
        server.on('connection', (near) => way.join(near, target));
        done(way);
      });
    });
  }

  cut(): void {
    this.open = false;
    this.sockets.forEach((socket) => socket.destroy());
  }

  mend(): void {
    this.open = true;
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((done) => this.server.close(() => done()));
  }

  private join(near: Socket, target: number): void {
    if (!this.open) {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      this.sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
