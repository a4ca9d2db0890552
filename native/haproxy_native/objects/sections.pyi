# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models.acl import Acl as AclModel
from haproxy_native.models.acme_provider import AcmeProvider as AcmeProviderModel
from haproxy_native.models.backend_base import BackendBase as BackendBaseModel
from haproxy_native.models.backend_switching_rule import BackendSwitchingRule as BackendSwitchingRuleModel
from haproxy_native.models.bind import Bind as BindModel
from haproxy_native.models.cache import Cache as CacheModel
from haproxy_native.models.capture import Capture as CaptureModel
from haproxy_native.models.crt_load import CrtLoad as CrtLoadModel
from haproxy_native.models.crt_store_base import CrtStoreBase as CrtStoreBaseModel
from haproxy_native.models.defaults_base import DefaultsBase as DefaultsBaseModel
from haproxy_native.models.dgram_bind import DgramBind as DgramBindModel
from haproxy_native.models.fcgi_app_base import FcgiAppBase as FcgiAppBaseModel
from haproxy_native.models.filter import Filter as FilterModel
from haproxy_native.models.filter_sequence import FilterSequence as FilterSequenceModel
from haproxy_native.models.force_be_switch import ForceBeSwitch as ForceBeSwitchModel
from haproxy_native.models.frontend_base import FrontendBase as FrontendBaseModel
from haproxy_native.models.global_base import GlobalBase as GlobalBaseModel
from haproxy_native.models.group import Group as GroupModel
from haproxy_native.models.healthcheck_base import HealthcheckBase as HealthcheckBaseModel
from haproxy_native.models.http_after_response_rule import HttpAfterResponseRule as HttpAfterResponseRuleModel
from haproxy_native.models.http_check import HttpCheck as HttpCheckModel
from haproxy_native.models.http_error_rule import HttpErrorRule as HttpErrorRuleModel
from haproxy_native.models.http_errors_section import HttpErrorsSection as HttpErrorsSectionModel
from haproxy_native.models.http_request_rule import HttpRequestRule as HttpRequestRuleModel
from haproxy_native.models.http_response_rule import HttpResponseRule as HttpResponseRuleModel
from haproxy_native.models.listen_base import ListenBase as ListenBaseModel
from haproxy_native.models.log_forward_base import LogForwardBase as LogForwardBaseModel
from haproxy_native.models.log_profile import LogProfile as LogProfileModel
from haproxy_native.models.log_target import LogTarget as LogTargetModel
from haproxy_native.models.mailer_entry import MailerEntry as MailerEntryModel
from haproxy_native.models.mailers_section_base import MailersSectionBase as MailersSectionBaseModel
from haproxy_native.models.nameserver import Nameserver as NameserverModel
from haproxy_native.models.peer_entry import PeerEntry as PeerEntryModel
from haproxy_native.models.peer_section_base import PeerSectionBase as PeerSectionBaseModel
from haproxy_native.models.quic_initial_rule import QuicInitialRule as QuicInitialRuleModel
from haproxy_native.models.resolver_base import ResolverBase as ResolverBaseModel
from haproxy_native.models.ring_base import RingBase as RingBaseModel
from haproxy_native.models.server import Server as ServerModel
from haproxy_native.models.server_switching_rule import ServerSwitchingRule as ServerSwitchingRuleModel
from haproxy_native.models.server_template import ServerTemplate as ServerTemplateModel
from haproxy_native.models.ssl_front_use import SslFrontUse as SslFrontUseModel
from haproxy_native.models.stick_rule import StickRule as StickRuleModel
from haproxy_native.models.table import Table as TableModel
from haproxy_native.models.tcp_check import TcpCheck as TcpCheckModel
from haproxy_native.models.tcp_request_rule import TcpRequestRule as TcpRequestRuleModel
from haproxy_native.models.tcp_response_rule import TcpResponseRule as TcpResponseRuleModel
from haproxy_native.models.traces import Traces as TracesModel
from haproxy_native.models.user import User as UserModel
from haproxy_native.models.userlist_base import UserlistBase as UserlistBaseModel
from haproxy_native.objects.bound import Bound
from haproxy_native.objects.collections import Named, Rows

class Acl(Bound, AclModel): ...

class BackendSwitchingRule(Bound, BackendSwitchingRuleModel): ...

class Bind(Bound, BindModel): ...

class Capture(Bound, CaptureModel): ...

class CrtLoad(Bound, CrtLoadModel): ...

class DgramBind(Bound, DgramBindModel): ...

class Filter(Bound, FilterModel): ...

class FilterSequence(Bound, FilterSequenceModel): ...

class ForceBeSwitch(Bound, ForceBeSwitchModel): ...

class Group(Bound, GroupModel): ...

class HttpAfterResponseRule(Bound, HttpAfterResponseRuleModel): ...

class HttpCheck(Bound, HttpCheckModel): ...

class HttpErrorRule(Bound, HttpErrorRuleModel): ...

class HttpRequestRule(Bound, HttpRequestRuleModel): ...

class HttpResponseRule(Bound, HttpResponseRuleModel): ...

class LogTarget(Bound, LogTargetModel): ...

class MailerEntry(Bound, MailerEntryModel): ...

class Nameserver(Bound, NameserverModel): ...

class PeerEntry(Bound, PeerEntryModel): ...

class QuicInitialRule(Bound, QuicInitialRuleModel): ...

class Server(Bound, ServerModel): ...

class ServerSwitchingRule(Bound, ServerSwitchingRuleModel): ...

class ServerTemplate(Bound, ServerTemplateModel): ...

class SslFrontUse(Bound, SslFrontUseModel): ...

class StickRule(Bound, StickRuleModel): ...

class Table(Bound, TableModel): ...

class TcpCheck(Bound, TcpCheckModel): ...

class TcpRequestRule(Bound, TcpRequestRuleModel): ...

class TcpResponseRule(Bound, TcpResponseRuleModel): ...

class User(Bound, UserModel): ...

class Global(Bound, GlobalBaseModel):
    log_targets: Rows[LogTarget]

class Defaults(Bound, DefaultsBaseModel):
    acls: Rows[Acl]
    log_targets: Rows[LogTarget]
    quic_initial_rules: Rows[QuicInitialRule]
    tcp_request_rules: Rows[TcpRequestRule]
    tcp_response_rules: Rows[TcpResponseRule]
    http_error_rules: Rows[HttpErrorRule]
    http_request_rules: Rows[HttpRequestRule]
    http_response_rules: Rows[HttpResponseRule]
    http_after_response_rules: Rows[HttpAfterResponseRule]
    http_checks: Rows[HttpCheck]
    tcp_checks: Rows[TcpCheck]

class Frontend(Bound, FrontendBaseModel):
    binds: Named[Bind]
    acls: Rows[Acl]
    captures: Rows[Capture]
    log_targets: Rows[LogTarget]
    filters: Rows[Filter]
    filter_sequences: Rows[FilterSequence]
    ssl_front_uses: Rows[SslFrontUse]
    quic_initial_rules: Rows[QuicInitialRule]
    tcp_request_rules: Rows[TcpRequestRule]
    http_error_rules: Rows[HttpErrorRule]
    http_request_rules: Rows[HttpRequestRule]
    http_response_rules: Rows[HttpResponseRule]
    http_after_response_rules: Rows[HttpAfterResponseRule]
    force_be_switches: Rows[ForceBeSwitch]
    backend_switching_rules: Rows[BackendSwitchingRule]

class Backend(Bound, BackendBaseModel):
    servers: Named[Server]
    server_templates: Named[ServerTemplate]
    acls: Rows[Acl]
    log_targets: Rows[LogTarget]
    filters: Rows[Filter]
    filter_sequences: Rows[FilterSequence]
    tcp_request_rules: Rows[TcpRequestRule]
    tcp_response_rules: Rows[TcpResponseRule]
    http_error_rules: Rows[HttpErrorRule]
    http_request_rules: Rows[HttpRequestRule]
    http_response_rules: Rows[HttpResponseRule]
    http_after_response_rules: Rows[HttpAfterResponseRule]
    http_checks: Rows[HttpCheck]
    tcp_checks: Rows[TcpCheck]
    stick_rules: Rows[StickRule]
    server_switching_rules: Rows[ServerSwitchingRule]

class Listen(Bound, ListenBaseModel):
    servers: Named[Server]
    server_templates: Named[ServerTemplate]
    binds: Named[Bind]
    acls: Rows[Acl]
    captures: Rows[Capture]
    log_targets: Rows[LogTarget]
    filters: Rows[Filter]
    filter_sequences: Rows[FilterSequence]
    ssl_front_uses: Rows[SslFrontUse]
    quic_initial_rules: Rows[QuicInitialRule]
    tcp_request_rules: Rows[TcpRequestRule]
    tcp_response_rules: Rows[TcpResponseRule]
    http_error_rules: Rows[HttpErrorRule]
    http_request_rules: Rows[HttpRequestRule]
    http_response_rules: Rows[HttpResponseRule]
    http_after_response_rules: Rows[HttpAfterResponseRule]
    http_checks: Rows[HttpCheck]
    tcp_checks: Rows[TcpCheck]
    stick_rules: Rows[StickRule]
    force_be_switches: Rows[ForceBeSwitch]
    backend_switching_rules: Rows[BackendSwitchingRule]
    server_switching_rules: Rows[ServerSwitchingRule]

class AcmeProvider(Bound, AcmeProviderModel): ...

class Cache(Bound, CacheModel): ...

class CrtStore(Bound, CrtStoreBaseModel):
    crt_loads: Named[CrtLoad]

class FcgiApp(Bound, FcgiAppBaseModel):
    acls: Rows[Acl]

class Healthcheck(Bound, HealthcheckBaseModel):
    http_checks: Rows[HttpCheck]
    tcp_checks: Rows[TcpCheck]

class HttpErrorsSection(Bound, HttpErrorsSectionModel): ...

class LogForward(Bound, LogForwardBaseModel):
    binds: Named[Bind]
    dgram_binds: Named[DgramBind]
    log_targets: Rows[LogTarget]

class LogProfile(Bound, LogProfileModel): ...

class MailersSection(Bound, MailersSectionBaseModel):
    mailer_entries: Named[MailerEntry]

class PeerSection(Bound, PeerSectionBaseModel):
    servers: Named[Server]
    binds: Named[Bind]
    peer_entries: Named[PeerEntry]
    tables: Named[Table]
    log_targets: Rows[LogTarget]

class Resolver(Bound, ResolverBaseModel):
    nameservers: Named[Nameserver]

class Ring(Bound, RingBaseModel):
    servers: Named[Server]

class Traces(Bound, TracesModel): ...

class Userlist(Bound, UserlistBaseModel):
    users: Named[User]
    groups: Named[Group]

class Sections:
    global_: Global
    defaults: Named[Defaults]
    frontends: Named[Frontend]
    backends: Named[Backend]
    listens: Named[Listen]
    acme: Named[AcmeProvider]
    caches: Named[Cache]
    crt_stores: Named[CrtStore]
    fcgi_apps: Named[FcgiApp]
    healthchecks: Named[Healthcheck]
    http_errors_sections: Named[HttpErrorsSection]
    log_forwards: Named[LogForward]
    log_profiles: Named[LogProfile]
    mailers_section: Named[MailersSection]
    peers: Named[PeerSection]
    resolvers: Named[Resolver]
    rings: Named[Ring]
    traces: Traces
    userlists: Named[Userlist]
