/** The set-up of completion in a shell. */
interface CompletionSetup {
  readonly shell: 'bash' | 'zsh' | 'fish' | 'powershell';
  /** The line in the start-up file; it silently does nothing after promptrun has been removed. */
  readonly line: string;
  /** The lines that earlier versions of promptrun told users to add. */
  readonly earlierLines: readonly string[];
  /** The command that adds the line to the start-up file. */
  readonly installCommand: string;
}

// The bash of macOS reads nothing from `source <(…)`.
const BASH_LINE =
  'if command -v promptrun >/dev/null; then eval "$(promptrun completion bash)"; fi';
const ZSH_LINE = 'if command -v promptrun >/dev/null; then source <(promptrun completion zsh); fi';
const FISH_LINE = 'if type -q promptrun; promptrun completion fish | source; end';

const POWERSHELL_LINE =
  'if (Get-Command promptrun -ErrorAction Ignore) { promptrun completion powershell | Out-String | Invoke-Expression }';

export const COMPLETION_SETUPS = [
  {
    shell: 'bash',
    line: BASH_LINE,
    earlierLines: ['source <(promptrun completion bash)', ZSH_LINE.replace('zsh', 'bash')],
    installCommand: `echo '${BASH_LINE}' >> ~/.bashrc`,
  },
  {
    shell: 'zsh',
    line: ZSH_LINE,
    earlierLines: ['source <(promptrun completion zsh)'],
    installCommand: `echo '${ZSH_LINE}' >> ~/.zshrc`,
  },
  {
    shell: 'fish',
    line: FISH_LINE,
    earlierLines: ['promptrun completion fish | source'],
    installCommand: `echo '${FISH_LINE}' >> ~/.config/fish/config.fish`,
  },
  {
    shell: 'powershell',
    line: POWERSHELL_LINE,
    earlierLines: ['promptrun completion powershell | Out-String | Invoke-Expression'],
    // The profile's folder may not exist on a new machine.
    installCommand: `New-Item -ItemType Directory -Force (Split-Path $PROFILE) | Out-Null; Add-Content $PROFILE '${POWERSHELL_LINE}'`,
  },
] as const satisfies readonly CompletionSetup[];
