/** A private RabbitMQ and Redis with workers, on which somebody else runs something. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { binary } from './place';
import { Process } from './process';
import { type Stage, byId } from './stage';

const SERVERS = resolve(import.meta.dirname, '../../../.make/with-servers');

export class LiveCluster {
  /** Belongs to this cluster alone; saved connections of this machine are none of a test's business. */
  readonly folder: string;
  readonly amqp: string;
  readonly redis: string;
  readonly program: string;
  private readonly servers: Process;
  private workers: Process[] = [];

  private constructor(servers: Process, amqp: string, redis: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'runeglass-attach-'));
    this.program = binary('RUNEGLASS_BIN', '../target/debug/runeglass');
    this.servers = servers;
    this.amqp = amqp;
    this.redis = redis;
  }

  static async open(): Promise<LiveCluster> {
    const servers = new Process(SERVERS, ['bash', '-c', 'echo "at $RUNEGLASS_AMQP and $RUNEGLASS_REDIS"; exec sleep 600']);
    const [, amqp = '', redis = ''] = /at (\S+) and (\S+)/.exec(await servers.says(/(at amqp:\S+ and \S+)/, 60_000)) ?? [];
    const cluster = new LiveCluster(servers, amqp, redis);
    cluster.startWorkers();
    return cluster;
  }

  get addresses(): string[] {
    return ['--amqp', this.amqp, '--redis', this.redis];
  }

  /** Two of them, ten messages at a time each. */
  startWorkers(): void {
    this.workers = [1, 2].map(() => new Process(this.program, ['worker', '--concurrency', '10', ...this.addresses]));
  }

  async stopWorkers(): Promise<void> {
    await Promise.all(this.workers.map((each) => each.end()));
    this.workers = [];
  }

  write(name: string, workflow: object): string {
    const file = join(this.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(workflow));
    return file;
  }

  /** By somebody else; tells the id of the execution. */
  start(name: string, workflow: object): string {
    return execFileSync(this.program, ['run', this.write(name, workflow), '--detach', ...this.addresses], { encoding: 'utf8' }).trim();
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.servers.end();
    rmSync(this.folder, { recursive: true, force: true });
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
}
