"""The transport: HTTP and WebSocket connections, requests that workers pass on, health and metrics."""
