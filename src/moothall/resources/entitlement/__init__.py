"""Entitlements: which users and guilds may use an SKU. There are no payments: applications create test entitlements.

A subscription is a view of a test entitlement to an SKU of type SUBSCRIPTION. Related rooms: `sku`, `application`, and
`interaction`, whose objects carry the caller's entitlements.
"""
