"""From a release to a distribution; nothing here can reach people's data."""
