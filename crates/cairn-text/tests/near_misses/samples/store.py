"""A store of notes, with tags and a history."""

import json
import os
from pathlib import Path


class Note:
    def __init__(self, title, body, tags=None):
        self.title = title
        self.body = body
        self.tags = tags or []

    def matches(self, word):
        if word in self.title:
            return True
        if word in self.body:
            return True
        for tag in self.tags:
            if word == tag:
                return True
        return False

    def shown(self):
        text = f'{self.title}: "{self.body}"'
        if self.tags:
            text += " [" + ", ".join(self.tags) + "]"
        return text


class Store:
    def __init__(self, path):
        self.path = Path(path)
        self.notes = {}
        self.history = []

    def load(self):
        if not self.path.exists():
            return self
        with open(self.path) as file:
            for line in file:
                line = line.strip()
                if not line:
                    continue
                try:
                    data = json.loads(line)
                except ValueError:
                    print("bad line:", line)
                    continue
                else:
                    self.notes[data["title"]] = Note(
                        data["title"],
                        data["body"],
                        data.get("tags"),
                    )
        return self

    def save(self):
        with open(self.path, "w") as file:
            for note in self.notes.values():
                file.write(json.dumps({
                    "title": note.title,
                    "body": note.body,
                    "tags": note.tags,
                }))
                file.write("\n")

    def get(self, title, default=None):
        if title in self.notes:
            return self.notes[title]
        return default

    def add(self, note):
        if note.title in self.notes:
            raise KeyError("it's there: \"" + note.title + "\"")
        self.notes[note.title] = note
        self.history.append(("add", note.title))

    def remove(self, title):
        if title not in self.notes:
            return False
        del self.notes[title]
        self.history.append(("remove", title))
        return True

    def find(self, word):
        found = []
        for note in self.notes.values():
            if note.matches(word):
                found.append(note)
        return found


def sizes(folder):
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            if name.startswith("."):
                continue
            total += os.path.getsize(os.path.join(root, name))
        if total > 1_000_000:
            break
    return total


def main(args):
    store = Store(args[0]).load()
    if len(args) > 1:
        for note in store.find(args[1]):
            print(note.shown())
    else:
        for title in sorted(store.notes):
            print(title)
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
