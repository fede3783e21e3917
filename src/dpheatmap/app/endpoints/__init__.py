"""The endpoints of the page, a module a topic: each request is read, checked, and passed on to the app's parts."""
