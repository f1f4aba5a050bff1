// The part of jstat that is used; the package has no types.

declare module 'jstat' {
  const jStat: {
    /** Logarithm of the gamma function. */
    gammaln(x: number): number;
    readonly studentt: {
      /** Quantile of Student's t distribution. */
      inv(probability: number, degreesOfFreedom: number): number;
    };
  };
  export default jStat;
}
