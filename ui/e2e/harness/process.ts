/** Processes of a test: started here, listened to here, and ended here by the id they were given. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { eventually } from './eventually';

const MOST_OUTPUT = 64 * 1024;
const GRACE_MILLIS = 3_000;

export class Process {
  readonly name: string;
  private readonly child: ChildProcess;
  private text = '';
  private ended = false;

  constructor(command: string, args: string[], environment: NodeJS.ProcessEnv = {}) {
    this.name = command;
    // A group of its own, so that what it starts can be ended with it and nothing else is touched.
    this.child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const keep = (piece: Buffer): void => {
      this.text = (this.text + piece.toString()).slice(-MOST_OUTPUT);
    };
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
    this.child.on('exit', (code, signal) => {
      this.ended = true;
      this.text += `\n[${command} ended: ${code ?? signal}]`;
    });
    this.child.on('error', (error) => {
      this.ended = true;
      this.text += `\n[${command} could not be started: ${error.message}]`;
    });
  }

  get output(): string {
    return this.text;
  }

  /** Waits for a line that matches and gives its first group. */
  async says(pattern: RegExp, limitMillis = 20_000): Promise<string> {
    return eventually(`${this.name} to say ${pattern}`, limitMillis, () => {
      const found = pattern.exec(this.text);
      if (found) return found[1] ?? found[0];
      if (this.ended) throw new Error(`${this.name} ended before it said ${pattern}:\n${this.text}`);
      return null;
    }, () => this.text);
  }

  async end(): Promise<void> {
    this.signal('SIGTERM');
    const deadline = Date.now() + GRACE_MILLIS;
    while (!this.ended && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    // Also reaches children that outlived their parent.
    this.signal('SIGKILL');
  }

  /** Without a word to anybody. */
  crash(): void {
    this.signal('SIGKILL');
  }

  private signal(name: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // Nobody of the group is left.
    }
  }
}

/** A port nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}
