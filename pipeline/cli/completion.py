"""`fairlane completion`: what a shell needs to complete commands, options and their values."""

import click
from click.shell_completion import get_completion_class

#: How each shell takes it in for good.
_HOW = {
    "bash": 'eval "$(fairlane completion bash)"        # in ~/.bashrc',
    "zsh": 'eval "$(fairlane completion zsh)"         # in ~/.zshrc, after compinit',
    "fish": "fairlane completion fish | source         # in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(_HOW.values()))
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete fairlane's commands, options and values; once for this shell or for good:"""
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"click has no completion for {shell}")
    source = completion(context.find_root().command, {}, "fairlane", "_FAIRLANE_COMPLETE").source()
    click.echo(f"# {_HOW[shell]}\n{source}")
