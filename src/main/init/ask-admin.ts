import { ConfigError } from '../../config/parsing/flags.ts';
import { assertFirstAdmin, type FirstAdmin } from '../../config/flags/first-admin-flags.ts';
import { type Console, Questions } from './questions.ts';

/** Asks for the first administrator. @throws ConfigError when an answer breaks a rule */
export async function askForAdmin(console: Console): Promise<FirstAdmin> {
  const questions = new Questions(console);
  try {
    const username = await questions.ask('Cluster Admin Username:');
    const password = await questions.ask('Cluster Admin Password:', { hidden: true });
    if ((await questions.ask('Retype Cluster Admin Password:', { hidden: true })) !== password) {
      const rule = "Password confirmation doesn't match the password";
      throw new ConfigError([{ flag: 'cluster-admin-password', rule }]);
    }
    const apiKey = await questions.ask('Cluster Admin API Key:', { hidden: true });
    const admin = { username, password, apiKey: apiKey || undefined };
    assertFirstAdmin(admin);
    return admin;
  } finally {
    questions.close();
  }
}
