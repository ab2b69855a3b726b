import { type Static, Type } from 'typebox';
import { optional, orAbsent, text } from './schema.ts';

/** The variable of the environment that a secret is given in, and which secret. */
export const SecretSchema = Type.Object({ name: optional(text()), secret: optional(text()) });

export const secretWithDefaults = ({ name, secret }: Static<typeof SecretSchema>) => ({
  name: orAbsent(name),
  secret: orAbsent(secret),
});
