"""The HTTP interface: its routes, and what surrounds them."""

import falcon

from web.auditing import Auditing
from web.counting import RequestCounting
from web.dashboard.pages import dashboard_routes
from web.identity import Identity
from web.keyring import KeyRing
from web.middleware import RequestLog, handle_error
from web.openapi import document
from web.operations import KnownParameters
from web.parts import Parts
from web.request_traces import RequestTraces
from web.resources.description import OpenApiResource
from web.router import HeadRouter
from web.routes import Routes, routes_of

App = falcon.App[falcon.Request, falcon.Response]


def create_app(parts: Parts) -> App:
    """Return the WSGI application."""
    description = OpenApiResource()
    routes: Routes = [*routes_of(parts), ("/openapi.json", description)]
    description.describe(document(routes))
    app: App = falcon.App(router=HeadRouter())
    app.add_middleware(RequestLog(parts.clock))
    app.add_middleware(RequestCounting(parts.measured.counters, parts.clock))
    app.add_middleware(Identity(KeyRing(parts.keys, parts.clock), parts.limits, parts.clock, parts.settings))
    app.add_middleware(KnownParameters())
    app.add_middleware(Auditing(parts.trail))
    if parts.traces:
        app.add_middleware(RequestTraces(parts.traces))
    app.add_error_handler(Exception, handle_error)
    app.add_error_handler(falcon.HTTPError, handle_error)
    for path, resource in (*routes, *dashboard_routes()):
        app.add_route(path, resource)
    return app
