/** A case of `echo.prompt` that passes. */
export const PASSING = `
  - name: greets
    inputs: { text: hello }
    expect: [{ equals: hello }]
`;

/** A case of `echo.prompt` that fails. */
export const FAILING = `
  - name: greets in Norwegian
    inputs: { text: hello }
    expect: [{ equals: hei }]
`;
