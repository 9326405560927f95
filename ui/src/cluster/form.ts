/** What stands in the form of a connection. Pure, so that every way to fill it in can be tested. */
import type { ClusterConnection, ClusterDialect, Passwords } from '../generated/protocol';
import { type ClusterColour, colourOf } from '../shared/clusterColours';

export type DialectChoice = 'auto' | ClusterDialect;

export interface Form {
  name: string;
  colour: ClusterColour;
  amqp: string;
  redis: string;
  prefix: string;
  dialect: DialectChoice;
  amqpPassword: string;
  redisPassword: string;
  remember: boolean;
  record: boolean;
}

export const NEW_FORM: Form = {
  name: '',
  colour: 'blue',
  amqp: '',
  redis: '',
  prefix: '',
  dialect: 'auto',
  amqpPassword: '',
  redisPassword: '',
  remember: true,
  record: false,
};

/** Passwords are never shown again, so a saved connection comes without. */
export function formOf({ name, colour, amqp, redis, prefix, dialect }: ClusterConnection): Form {
  return { ...NEW_FORM, name, colour: colourOf(colour), amqp, redis, prefix, dialect: dialect ?? 'auto' };
}

export function connectionOf(form: Form): ClusterConnection {
  const { name, colour, amqp, redis, prefix, dialect } = form;
  return {
    name: name.trim(),
    colour,
    amqp: amqp.trim(),
    redis: redis.trim(),
    prefix: prefix.trim(),
    dialect: dialect === 'auto' ? null : dialect,
  };
}

/** An empty field says nothing: the host then looks into the keyring. */
export function passwordsOf({ amqpPassword, redisPassword }: Form): Passwords {
  return {
    ...(amqpPassword === '' ? {} : { amqp: amqpPassword }),
    ...(redisPassword === '' ? {} : { redis: redisPassword }),
  };
}

/** A password that was pasted with its address goes where it cannot be read. */
export function withoutPassword(address: string): { address: string; password: string | null } {
  const [, scheme, user, password, rest] = /^(\w+:\/\/)([^:/@]*):([^/]*)@(.*)$/.exec(address.trim()) ?? [];
  if (scheme === undefined || password === undefined) return { address, password: null };
  return { address: user === '' ? `${scheme}${rest}` : `${scheme}${user}@${rest}`, password: decoded(password) };
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    // A lone percent sign stands for itself.
    return password;
  }
}

/** Whether a password of a saved connection is asked for at the keyring: the host tells it only to whom it was saved for. */
export function isSameDoor(one: string, other: string): boolean {
  const [door, otherDoor] = [doorOf(one), doorOf(other)];
  return door !== null && door === otherDoor;
}

const USUAL_PORTS: { [scheme: string]: string } = { 'amqp:': '5672', 'amqps:': '5671' };

function doorOf(address: string): string | null {
  if (!URL.canParse(address.trim())) return null;
  const { protocol, username, hostname, port, hash } = new URL(address.trim());
  return [protocol, decoded(username), hostname.toLowerCase(), port === '' ? (USUAL_PORTS[protocol] ?? '6379') : port, hash].join(' ');
}

export type Lack = { field: 'name' | 'amqp' | 'redis'; sentence: string };

/** What is missing before anything can be tried. */
export function lackOf(form: Form): Lack | null {
  if (form.name.trim() === '') return { field: 'name', sentence: 'Give the cluster a name, such as production.' };
  if (!/^amqps?:\/\/./.test(form.amqp.trim())) return { field: 'amqp', sentence: 'Write where RabbitMQ is, such as amqp://reader@host:5672/%2f.' };
  if (!/^rediss?:\/\/./.test(form.redis.trim())) return { field: 'redis', sentence: 'Write where Redis is, such as redis://host:6379.' };
  return null;
}
