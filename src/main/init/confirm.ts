import { type Console, Questions } from './questions.ts';

/** Answers that are neither yes nor no before the question counts as refused. */
const MAX_WRONG_ANSWERS = 3;

/** Asks a question that is answered with `y`, `yes`, `n` or `no`; an empty answer is a no. @throws InputEnded */
export async function confirm(question: string, console: Console): Promise<boolean> {
  const questions = new Questions(console);
  try {
    for (let wrong = 0; wrong < MAX_WRONG_ANSWERS; wrong += 1) {
      const answer = (await questions.ask(`${question} [y/N]`)).trim().toLowerCase();
      if (['y', 'yes'].includes(answer)) return true;
      if (['', 'n', 'no'].includes(answer)) return false;
      console.output.write('Please answer y or n.\n');
    }
    return false;
  } finally {
    questions.close();
  }
}
