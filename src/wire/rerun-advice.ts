/** The words before the advised command in the error of a run that was stopped on this machine. */
export const RERUN_ADVICE = '. To run it again: ';
