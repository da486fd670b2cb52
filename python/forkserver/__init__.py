"""The trusted half of the local environment: a fork server, and the init process of each sandbox.

Nothing here ever runs user code. The fork server is started once by the host; every sandbox is a fork of it.
"""
