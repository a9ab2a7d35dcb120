"""Streams over a real socket: a server in another process, and HTTP clients as their users call them.

What is measured with them is the process that reads; the server makes its bytes beforehand where it can.
"""
