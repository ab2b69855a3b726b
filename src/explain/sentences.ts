import type { Explanation } from './explanation.ts';
import { handlerSentences } from './handler-sentences.ts';
import { silenceSentences } from './silence-sentences.ts';
import { stateSentences } from './state-sentences.ts';
import { watchingSentences } from './watching-sentences.ts';

/** The explanation in sentences, one idea in each. */
export const sentencesOf = (explanation: Explanation): string[] => [
  ...stateSentences(explanation),
  ...silenceSentences(explanation),
  ...handlerSentences(explanation),
  ...watchingSentences(explanation),
];
