import { type ReactElement, type ReactNode, useId } from 'react';
import type { ClusterConnection } from '../generated/protocol';
import { CLUSTER_COLOURS, COLOUR_NAMES } from '../shared/clusterColours';
import { type DialectChoice, type Form, isSameDoor, withoutPassword } from './form';

interface Props {
  form: Form;
  /** As it was saved before, if it was: its passwords may be in the keyring. */
  saved: ClusterConnection | null;
  onChange: (more: Partial<Form>) => void;
}

const DIALECTS: { [K in DialectChoice]: string } = {
  auto: 'Find out',
  runeglass: 'Runeglass workers',
  rune: 'Rune services',
};

export function ConnectionForm({ form, saved, onChange }: Props): ReactElement {
  const known = saved !== null && saved.name === form.name.trim() ? saved : null;
  const secret = (of: 'amqp' | 'redis'): string => (known && isSameDoor(known[of], form[of]) ? 'from the keyring, if kept' : 'none');
  return (
    <>
      <div className="attach-pair">
        <Text label="Name" name="name" value={form.name} placeholder="production" onChange={(name) => onChange({ name })} />
        <Colours form={form} onChange={onChange} />
      </div>
      <div className="attach-pair attach-address">
        <Text
          label="RabbitMQ"
          name="amqp"
          value={form.amqp}
          placeholder="amqp://reader@host:5672/%2f"
          mono
          onChange={(amqp) => onChange({ amqp })}
          onBlur={() => {
            const { address, password } = withoutPassword(form.amqp);
            if (password !== null) onChange({ amqp: address, amqpPassword: password });
          }}
        />
        <Secret label="RabbitMQ password" name="amqp-password" value={form.amqpPassword} placeholder={secret('amqp')} onChange={(amqpPassword) => onChange({ amqpPassword })} />
      </div>
      <div className="attach-pair attach-address">
        <Text
          label="Redis"
          name="redis"
          value={form.redis}
          placeholder="redis://host:6379"
          mono
          onChange={(redis) => onChange({ redis })}
          onBlur={() => {
            const { address, password } = withoutPassword(form.redis);
            if (password !== null) onChange({ redis: address, redisPassword: password });
          }}
        />
        <Secret label="Redis password" name="redis-password" value={form.redisPassword} placeholder={secret('redis')} onChange={(redisPassword) => onChange({ redisPassword })} />
      </div>
      <div className="attach-pair">
        <Text label="Prefix of queues and keys" name="prefix" value={form.prefix} placeholder="none" mono onChange={(prefix) => onChange({ prefix })} />
        <Dialect form={form} onChange={onChange} />
      </div>
      <div className="attach-checks">
        <Check label="Remember this connection" note="passwords go to the keyring of this machine" checked={form.remember} onChange={(remember) => onChange({ remember })} />
        <Check label="Record what is seen" note="otherwise it is gone after detaching" checked={form.record} onChange={(record) => onChange({ record })} />
      </div>
    </>
  );
}

interface TextProps {
  label: string;
  name: string;
  value: string;
  placeholder: string;
  mono?: boolean;
  onChange: (value: string) => void;
  onBlur?: () => void;
}

function Text({ label, mono = false, onChange, ...rest }: TextProps): ReactElement {
  return (
    <label className="attach-field">
      <span>{label}</span>
      <input type="text" spellCheck={false} autoComplete="off" className={mono ? 'attach-mono' : ''} onChange={(event) => onChange(event.target.value)} {...rest} />
    </label>
  );
}

function Secret({ label, onChange, ...rest }: Omit<TextProps, 'mono' | 'onBlur'>): ReactElement {
  return (
    <label className="attach-field">
      <span>{label}</span>
      <input type="password" autoComplete="new-password" onChange={(event) => onChange(event.target.value)} {...rest} />
    </label>
  );
}

function Colours({ form, onChange }: Pick<Props, 'form' | 'onChange'>): ReactElement {
  const id = useId();
  return (
    <fieldset className="attach-field attach-colours">
      <legend>Colour: {COLOUR_NAMES[form.colour]}</legend>
      <div className="attach-swatches">
        {CLUSTER_COLOURS.map((colour) => (
          <label key={colour} title={COLOUR_NAMES[colour]} className={`swatch-choice cluster-${colour}`}>
            <input type="radio" name={`${id}-colour`} value={colour} checked={form.colour === colour} aria-label={COLOUR_NAMES[colour]} onChange={() => onChange({ colour })} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Dialect({ form, onChange }: Pick<Props, 'form' | 'onChange'>): ReactElement {
  return (
    <label className="attach-field">
      <span>Whose workers</span>
      <select name="dialect" value={form.dialect} onChange={(event) => onChange({ dialect: event.target.value as DialectChoice })}>
        {Object.entries(DIALECTS).map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Check({ label, note, checked, onChange }: { label: ReactNode; note: string; checked: boolean; onChange: (on: boolean) => void }): ReactElement {
  return (
    <label className="attach-check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label} <span className="attach-note">{note}</span>
      </span>
    </label>
  );
}
