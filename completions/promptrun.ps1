# PowerShell completion for promptrun
#   promptrun completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName promptrun -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @(
        $commandAst.CommandElements |
            Select-Object -Skip 1 |
            Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
            ForEach-Object {
                if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
                else { $_.Extent.Text }
            }
    )
    if ($wordToComplete -eq '') { $words += '' }
    $json = ConvertTo-Json -Compress -InputObject @($words)
    $line = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($json))
    promptrun __complete powershell -- $line 2>$null | ForEach-Object {
        $word, $shown, $description = ConvertFrom-Json $_
        [System.Management.Automation.CompletionResult]::new($word, $shown, 'ParameterValue', $description)
    }
}
