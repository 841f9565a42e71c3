"""Find: the loop, the plan, the run and its checkpoints.

`headway.train(recipe, out="runs/mine")` trains: the room is also the verb. What it does stands at the front door, which sees all rooms.
"""

import sys

from headway import Verb

sys.modules[__name__].__class__ = Verb
