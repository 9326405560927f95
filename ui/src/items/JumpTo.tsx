import { type FormEvent, type ReactElement, useState } from 'react';

interface Props {
  total: number;
  onJump: (index: number) => void;
}

export function JumpTo({ total, onJump }: Props): ReactElement {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const index = Number(text);
    if (text !== '' && Number.isInteger(index)) onJump(Math.min(Math.max(index, 0), total - 1));
  };
  return (
    <form className="jump" onSubmit={submit}>
      <label>
        Item
        <input
          type="number"
          min={0}
          max={total - 1}
          placeholder={`0–${total - 1}`}
          value={text}
          data-testid="items-jump"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </form>
  );
}
