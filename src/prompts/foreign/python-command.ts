/** The command that starts Python. */
export const PYTHON_COMMAND = process.platform === 'win32' ? 'python' : 'python3';
