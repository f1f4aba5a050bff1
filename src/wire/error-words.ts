// Words by which the command line recognises errors of runs on this machine.

/** The words before the command that runs a stopped run again. */
export const RERUN_ADVICE = '. To run it again: ';

/** The words after the provider's name if an answer ended at its token limit. */
export const CUT_SHORT_WORDS = 'cut the answer short at the token limit';
