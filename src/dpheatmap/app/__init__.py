"""The local web app: from a file to a published map in the browser, without leaving the machine.

::

    local_server.py      starts and stops it: address, folder, password, the browser
    request_guard.py     who may ask: Host, Origin, session; and what every answer forbids the browser
    session.py           the one-time link, and the cookie and the key that it is exchanged for
    connection_owner.py  whose a connection on this machine is
    routes.py            the app as one, and what is said where there is no answer
    endpoints/           the questions that the page may ask, a module a topic, thin over the rest
    release_request.py   what is asked for, read from JSON and checked
    uploads.py           files that the browser sends, in a private folder, removed on exit
    jobs.py              releases on their way: progress, cancelling, charging once, what a crash left
    release_shelf.py     releases that were made, one folder each
    map_drawing.py       maps, thumbnails, comparisons and files of a stored release
    plan_preview.py      what to expect, shown on generated people
    recipe.py            the command line and the Python that do the same
    texts.json           every sentence, for the server and for the page (web/src/app)
"""
