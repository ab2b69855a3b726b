import { ConfigError } from '../../config/parsing/flags.ts';
import { assertFirstAdmin, type FirstAdmin } from '../../config/flags/first-admin-flags.ts';
import { type Console, InputEnded, Questions } from './questions.ts';

const WITHOUT_TERMINAL =
  'run the command in a terminal, or use --cluster-admin-username and MON_BACKEND_CLUSTER_ADMIN_PASSWORD in place of --interactive';

/** Asks for the first administrator. @throws ConfigError when an answer breaks a rule, or the input ends before the last answer */
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
  } catch (error) {
    if (!(error instanceof InputEnded)) throw error;
    throw new ConfigError([{ flag: 'interactive', rule: `${error.message}: ${WITHOUT_TERMINAL}` }]);
  } finally {
    questions.close();
  }
}
