"""Whether an issuer of JWTs lists keys that can be used."""

import asyncio

from dataplaneapi.settings.jwt import JwtSettings


def trouble(settings: JwtSettings) -> str:
    """Why its keys cannot be fetched; empty where they can. Blocks for some seconds."""
    # What only the extra installs.
    from dataplaneapi.auth.issuer import FETCH_SECONDS, KeysFailed, fetch, usable

    async def look() -> None:
        async with asyncio.timeout(FETCH_SECONDS):
            usable(await fetch(settings))

    try:
        asyncio.run(look())
    except KeysFailed as error:
        return str(error)
    except TimeoutError:
        return f"{settings.jwks or settings.issuer} does not answer within {FETCH_SECONDS:g} seconds"
    return ""
