export const PYTHON = process.platform === 'win32' ? 'python' : 'python3';
