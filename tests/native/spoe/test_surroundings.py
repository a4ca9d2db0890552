"""What the configuration and the process have to say about a SPOE file."""

from pathlib import Path

import pytest

from haproxy_native.check.messages import Message
from haproxy_native.errors import InUse, Refused
from haproxy_native.spoe.surroundings import Surroundings
from tests.haproxy import binaries
from tests.native.engines import CheckSettings, run, running_engine
from tests.native.spoe.site import READ, TEXT, around, configuration, furnish


def test_a_draft_is_asked_about_in_the_place_of_the_file(tmp_path: Path) -> None:
    home = furnish(tmp_path)
    (tmp_path / "haproxy.cfg").write_text(configuration(tmp_path).replace("{stats}", f"{tmp_path}/s"))
    draft = home / ".draft"

    async def asked(site: Surroundings, name: str, text: str) -> None:
        draft.write_text(text)
        await site.refuse_wrong(home / name, draft)

    async def work() -> None:
        async with running_engine(tmp_path, check=CheckSettings(binaries.newest())) as engine:
            site = around(engine, tmp_path)
            await asked(site, READ, TEXT)
            wrong = TEXT.replace("  messages m1", "  mesages m1")
            await asked(site, "free.cfg", wrong)
            with pytest.raises(Refused) as refused:
                await asked(site, READ, wrong)
            assert f"{home}/{READ}:4" in str(refused.value)
            assert ".draft" not in f"{refused.value} {refused.value.alerts}"
            alert = refused.value.alerts[0]
            assert isinstance(alert, Message)
            assert (alert.file, alert.line) == (str(home / READ), 4)
            assert [each.why for each in site.reasons(home / READ)] == [f"the SPOE file {READ}, which it reads, changed"]
            assert site.reasons(home / "free.cfg") == []
            await site.refuse_in_use(home / "free.cfg")
            with pytest.raises(InUse):
                await site.refuse_in_use(home / READ)

    run(work())
