"""The local web app: from a file to a published map in the browser, without leaving the machine.

::

    local_server.py      starts and stops it: address, folder, password, the browser
    request_guard.py     which requests are allowed: Host, Origin, session; and the security headers of every answer
    session.py           the one-time link, and the cookie and the key that it is exchanged for
    way_back.py          a fresh link from the app that runs, after its browser was closed
    connection_owner.py  the user who owns a connection on this machine
    routes.py            the whole app, and the answers to errors
    endpoints/           the endpoints of the page, a module a topic, thin over the rest
    release_request.py   requests of the page, read from JSON and checked
    uploads.py           files that the browser sends, in a private folder, removed on exit
    example.py           invented people, to try the app with
    jobs.py              releases in progress: cancelling, charging once, recovery after a crash
    release_shelf.py     releases that were made, one folder each
    account_book.py      what each charge bought, verification and export of the ledger
    app_settings.py      the publisher's name
    map_drawing.py       maps, thumbnails, comparisons and files of a stored release
    place_in_words.py    a box in words, before it is paid for: its size, its nearest town, whether there is land
    plan_preview.py      the expected map, shown on generated people
    file_names.py        names of downloads, which tell what is public
    recipe.py            the equivalent command line and Python code
    texts.json           every sentence, for the server and for the page (web/src/app)
"""
