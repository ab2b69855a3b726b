import { type Static, Type } from 'typebox';
import { optional, orAbsent, text } from './schema.ts';

/** The environment variable that passes a secret to a command, and the name of the secret. */
export const SecretReferenceSchema = Type.Object({ name: optional(text()), secret: optional(text()) });

export type SecretReference = ReturnType<typeof secretReferenceWithDefaults>;

export const secretReferenceWithDefaults = ({ name, secret }: Static<typeof SecretReferenceSchema>) => ({
  name: orAbsent(name),
  secret: orAbsent(secret),
});
