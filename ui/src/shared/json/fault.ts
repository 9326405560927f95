/** Where a text stops being JSON, in the same words on every machine: browsers tell the place in their own ways, or not at all. */
export interface Fault {
  message: string;
  offset: number;
  /** Both from 1. */
  line: number;
  column: number;
}

export type Parsed = { type: 'value'; value: unknown } | { type: 'fault'; fault: Fault };

export function parseJson(text: string): Parsed {
  const fault = faultOf(text);
  return fault ? { type: 'fault', fault } : { type: 'value', value: JSON.parse(text) as unknown };
}

export function faultOf(text: string): Fault | null {
  try {
    new Reader(text).read();
    return null;
  } catch (thrown) {
    if (!(thrown instanceof Wrong)) throw thrown;
    const before = text.slice(0, thrown.offset);
    const line = before.split('\n').length;
    return { message: thrown.message, offset: thrown.offset, line, column: thrown.offset - (before.lastIndexOf('\n') + 1) + 1 };
  }
}

class Wrong extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Deeper than this the host does not read either. */
const DEEPEST = 128;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  read(): void {
    this.space();
    if (this.at >= this.text.length) throw new Wrong('There is nothing here; a value is needed.', this.at);
    this.value(0);
    if (this.at < this.text.length) throw new Wrong(`Nothing may follow the value, and here is ${this.here()}.`, this.at);
  }

  private value(depth: number): void {
    if (depth > DEEPEST) throw new Wrong(`Nested more than ${DEEPEST} levels deep.`, this.at);
    const letter = this.text[this.at];
    if (letter === '{') this.members(depth);
    else if (letter === '[') this.elements(depth);
    else if (letter === '"') this.string();
    else if (letter === '-' || (letter !== undefined && letter >= '0' && letter <= '9')) this.number();
    else this.word();
    this.space();
  }

  private members(depth: number): void {
    const open = this.at;
    this.at += 1;
    this.space();
    if (this.take('}')) return;
    for (;;) {
      if (this.text[this.at] !== '"') throw new Wrong(this.at >= this.text.length ? this.unclosed('{', open) : `A name in double quotes is needed, and here is ${this.here()}.`, this.at);
      this.string();
      this.space();
      if (!this.take(':')) throw new Wrong(`A colon is needed after the name, and here is ${this.here()}.`, this.at);
      this.space();
      this.value(depth + 1);
      if (this.take('}')) return;
      this.comma('}', '{', open);
    }
  }

  private elements(depth: number): void {
    const open = this.at;
    this.at += 1;
    this.space();
    if (this.take(']')) return;
    for (;;) {
      this.value(depth + 1);
      if (this.take(']')) return;
      this.comma(']', '[', open);
    }
  }

  private comma(close: string, opened: string, open: number): void {
    const comma = this.at;
    if (this.at >= this.text.length) throw new Wrong(this.unclosed(opened, open), this.at);
    if (!this.take(',')) throw new Wrong(`A comma or ${close} is needed, and here is ${this.here()}.`, this.at);
    this.space();
    if (this.text[this.at] === close) throw new Wrong(`There is a comma too many before ${close}.`, comma);
  }

  private string(): void {
    const open = this.at;
    this.at += 1;
    for (;;) {
      const letter = this.text[this.at];
      if (letter === undefined || letter === '\n') throw new Wrong('The text that begins here has no closing quote.', open);
      if (letter === '"') break;
      if (letter === '\\') {
        ESCAPE.lastIndex = this.at;
        const found = ESCAPE.exec(this.text);
        if (!found) throw new Wrong('A backslash must be followed by one of " \\ / b f n r t u.', this.at);
        this.at += found[0].length;
      } else if (letter < ' ') throw new Wrong('This character must be written with a backslash.', this.at);
      else this.at += 1;
    }
    this.at += 1;
  }

  private number(): void {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    const after = found ? this.text[this.at + found[0].length] : undefined;
    if (!found || (after !== undefined && /[\w.+]/.test(after))) throw new Wrong('This is not a number that JSON knows.', this.at);
    this.at += found[0].length;
  }

  private word(): void {
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.text)?.[0] ?? '';
    if (word !== 'true' && word !== 'false' && word !== 'null') {
      throw new Wrong(this.at >= this.text.length ? 'A value is missing at the end.' : `A value is needed, and here is ${this.here()}.`, this.at);
    }
    this.at += word.length;
  }

  private take(letter: string): boolean {
    if (this.text[this.at] !== letter) return false;
    this.at += 1;
    this.space();
    return true;
  }

  private space(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  private here(): string {
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.text)?.[0];
    const letter = this.text[this.at];
    if (letter === undefined) return 'the end';
    return letter === '"' ? 'a text' : `“${word ?? letter}”`;
  }

  private unclosed(opened: string, open: number): string {
    return `The ${opened} of line ${this.text.slice(0, open).split('\n').length} is not closed.`;
  }
}
