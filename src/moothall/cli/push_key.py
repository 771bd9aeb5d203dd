"""`moothall push-key`: make the key of Web Push."""

import click


@click.command(short_help="Make a key for Web Push.")
def push_key() -> None:
    """Print a new private key for the setting push_private_key, and the public key that browsers get.

    Browsers subscribe with the public key: a new key ends all subscriptions.
    """
    from moothall.resources.push.encryption import VapidKey, new_private_key

    private = new_private_key()
    click.echo(f'push_private_key = "{private}"\n# public: {VapidKey(private, "").public_key}')
