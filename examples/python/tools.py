"""Meeting rooms, as a program for the `command` executor: JSON lines in, JSON lines out.

Rehearsal Studio starts this once for each session and writes one line at a time:

    {"type": "open", "version": 1, "state": {...}}          the state in which the session begins; no answer
    {"type": "call", "id": 1, "tool": "...", "arguments": {...}}
    {"type": "state", "id": 2}                              optional: for checks of the final state

Each line with an id is answered by one line with that id and `result`, `error` or `state`. When standard input
ends, so does the session.
"""

import json
import sys


class ToolError(Exception):
    """Its message is what the tool answers instead."""


def find_room(state, room):
    if room not in state["rooms"]:
        raise ToolError("Room not found")
    return state["rooms"][room]


def list_rooms(state, seats=1):
    return [room for room in state["rooms"].values() if room["seats"] >= seats]


def get_bookings(state, room):
    find_room(state, room)
    return [booking for booking in state["bookings"] if booking["room"] == room]


def book_room(state, room, hour, name):
    find_room(state, room)
    if not 8 <= hour <= 18:
        raise ToolError("Rooms can be booked from 8 to 18")
    if any(b["room"] == room and b["hour"] == hour for b in state["bookings"]):
        raise ToolError(f"{room} is already booked at {hour}")
    booking = {"room": room, "hour": hour, "name": name}
    state["bookings"].append(booking)
    return booking


TOOLS = {"list_rooms": list_rooms, "get_bookings": get_bookings, "book_room": book_room}


def answer(message, state):
    if message["type"] == "state":
        return {"state": state}
    tool = TOOLS.get(message["tool"])
    if tool is None:
        return {"error": f"There is no tool {message['tool']}"}
    try:
        return {"result": tool(state, **message["arguments"])}
    except (ToolError, TypeError) as error:
        return {"error": str(error)}


def main():
    state = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "open":
            state = message["state"]
        else:
            # Python writes NaN, which is not JSON: better an error here than an answer that nobody can read.
            text = json.dumps({"id": message["id"], **answer(message, state)}, allow_nan=False)
            print(text, flush=True)


if __name__ == "__main__":
    main()
