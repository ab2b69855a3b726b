import { type Static, Type } from 'typebox';
import { optional, orAbsent, text } from './schema.ts';

/** A secret, and the environment variable that passes it to a command. */
export const SecretSchema = Type.Object({ name: optional(text()), secret: optional(text()) });

export const secretWithDefaults = ({ name, secret }: Static<typeof SecretSchema>) => ({
  name: orAbsent(name),
  secret: orAbsent(secret),
});
