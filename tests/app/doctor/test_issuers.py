"""An issuer of JWTs, looked at before anyone comes with one."""

from dataplaneapi.doctor import checks
from dataplaneapi.doctor.checks import issuer_failure
from dataplaneapi.settings.jwt import JwtSettings
from dataplaneapi.settings.table import Settings
from tests.issuing import AUDIENCE, Issuing


def test_what_it_lists() -> None:
    with Issuing("ec1") as issuing:
        settings = JwtSettings(issuing.url, AUDIENCE)
        assert issuer_failure(settings) == ""
        issuing.keys = []
        assert "none of its keys" in issuer_failure(settings)
        issuing.is_away = True
        assert "answers with status 503" in issuer_failure(settings)
    assert "ConnectError" in issuer_failure(settings)


def test_the_doctor_says_so() -> None:
    with Issuing("ec1") as issuing:
        given = Settings(jwt={"issuer": issuing.url, "audience": AUDIENCE}, role_of={"claims": {"ops": "admin"}})
        (good,) = checks.check_issuer(given)
    (bad,) = checks.check_issuer(given)
    assert (good.level, bad.level, good.part) == ("ok", "warning", "jwt") and "ConnectError" in bad.what
    assert list(checks.check_issuer(Settings())) == []
