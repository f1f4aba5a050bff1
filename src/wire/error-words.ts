// Words in the errors of runs on this machine that the command line recognises.

/** The words before the advised command in the error of a run that was stopped on this machine. */
export const RERUN_ADVICE = '. To run it again: ';

/**
 * The words, after the model's provider, in the error of a run whose answer ended at its token
 * limit.
 */
export const CUT_SHORT = 'cut the answer short at the token limit';
