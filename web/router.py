"""The router: falcon's, with HEAD wherever there is GET."""

from typing import Any

from falcon.routing import CompiledRouter


class HeadRouter(CompiledRouter):
    """Answers HEAD as GET; falcon leaves the body out. Source: RFC 9110, 9.1, which wants both of every server."""

    def map_http_methods(self, resource: object, **options: Any) -> Any:
        methods: Any = super().map_http_methods(resource, **options)
        if "GET" in methods:
            methods.setdefault("HEAD", methods["GET"])
        return methods
