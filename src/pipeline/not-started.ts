/** A run could not begin, because the system or a queue lacks room. Nothing was given to the handler, so that it is tried again. */
export class NotStarted extends Error {}
