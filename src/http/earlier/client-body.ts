import { InvalidResource } from '../../resources/errors.ts';
import { assertEntity, type Entity, parseEntityShape } from '../../resources/entity.ts';
import { annotationOf, customToMetadata } from '../../rules/earlier-attributes.ts';
import { fromEarlierId } from '../../rules/earlier-silence.ts';
import { type Body, integer, matching, NAME, object, optional, text, texts, truth } from './body-members.ts';

/** Members that become fields of the entity, or are set by the backend; the others are custom. */
const KNOWN = new Set(['name', 'dc', 'subscriptions', 'redact', 'version', 'timestamp', 'type']);
const OBJECTS = ['keepalive', 'registration', 'deregistration', 'socket', 'http_socket'];

/** Returns the name of a posted client. @throws InvalidResource */
export const clientNameOf = ({ name }: Body): string => matching('name', name, NAME);

/** Converts a posted client to a proxy entity. Source: spec/05 7.1. @throws InvalidResource that names the member and the rule */
export function entityOfClient(body: Body, namespace: string, nowS: number): Entity {
  const name = clientNameOf(body);
  text('address', body['address']);
  assertRules(body);
  const subscriptions = optional(body, 'subscriptions', texts('subscriptions')) ?? [];
  if (subscriptions.includes('')) throw new InvalidResource('subscriptions must not contain an empty string');
  const custom = Object.fromEntries(Object.entries(body).filter(([member]) => !KNOWN.has(member)));
  const { labels, annotations } = customToMetadata(custom);
  const entity = parseEntityShape({
    metadata: { name, namespace, labels, annotations: { ...annotations, [annotationOf('timestamp')]: String(nowS) } },
    entity_class: 'proxy',
    subscriptions: [...new Set([...subscriptions.map(fromEarlierId), `entity:${name}`])],
    redact: optional(body, 'redact', texts('redact')),
  });
  assertEntity(entity);
  return entity;
}

function assertRules(body: Body): void {
  for (const member of OBJECTS) optional(body, member, object(member));
  for (const member of ['keepalives', 'safe_mode']) optional(body, member, truth(member));
  optional(body, 'signature', (value) => text('signature', value));
  optional(body, 'environment', (value) => text('environment', value));
  for (const member of ['socket', 'http_socket']) {
    const socket = optional(body, member, object(member)) ?? {};
    optional(socket, 'port', integer(`${member}.port`));
    optional(socket, 'bind', (value) => text(`${member}.bind`, value));
  }
  const keepalive = optional(body, 'keepalive', object('keepalive')) ?? {};
  optional(keepalive, 'handler', (value) => text('keepalive.handler', value));
  optional(keepalive, 'handlers', texts('keepalive.handlers'));
  const thresholds = optional(keepalive, 'thresholds', object('keepalive.thresholds')) ?? {};
  for (const level of ['warning', 'critical']) optional(thresholds, level, integer(`keepalive.thresholds.${level}`));
}
