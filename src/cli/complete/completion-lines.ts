/** A shell, the line in its start-up file that loads completion, and how to add that line. */
interface CompletionLine {
  readonly shell: 'bash' | 'zsh' | 'fish' | 'powershell';
  /** The line, which silently does nothing once the command is gone. */
  readonly line: string;
  readonly oldLines: readonly string[];
  /** The command that adds it. */
  readonly command: string;
}

// The bash of macOS reads nothing from `source <(…)`.
const BASH = 'if command -v promptrun >/dev/null; then eval "$(promptrun completion bash)"; fi';
const ZSH = 'if command -v promptrun >/dev/null; then source <(promptrun completion zsh); fi';
const FISH = 'if type -q promptrun; promptrun completion fish | source; end';

const POWERSHELL_LINE =
  'if (Get-Command promptrun -ErrorAction Ignore) { promptrun completion powershell | Out-String | Invoke-Expression }';

export const COMPLETION_LINES = [
  {
    shell: 'bash',
    line: BASH,
    oldLines: ['source <(promptrun completion bash)', ZSH.replace('zsh', 'bash')],
    command: `echo '${BASH}' >> ~/.bashrc`,
  },
  {
    shell: 'zsh',
    line: ZSH,
    oldLines: ['source <(promptrun completion zsh)'],
    command: `echo '${ZSH}' >> ~/.zshrc`,
  },
  {
    shell: 'fish',
    line: FISH,
    oldLines: ['promptrun completion fish | source'],
    command: `echo '${FISH}' >> ~/.config/fish/config.fish`,
  },
  {
    shell: 'powershell',
    line: POWERSHELL_LINE,
    oldLines: ['promptrun completion powershell | Out-String | Invoke-Expression'],
    // The profile's folder may not exist on a new machine.
    command: `New-Item -ItemType Directory -Force (Split-Path $PROFILE) | Out-Null; Add-Content $PROFILE '${POWERSHELL_LINE}'`,
  },
] as const satisfies readonly CompletionLine[];
