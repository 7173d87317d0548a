"""Looking inside: `story`, `storage_map`, `show` and `make_dot`."""

from vtgrad.viz.dot import Dot as Dot
from vtgrad.viz.make_dot import make_dot as make_dot
from vtgrad.viz.show import show as show
from vtgrad.viz.storage_map import StorageMap as StorageMap
from vtgrad.viz.storage_map import storage_map as storage_map
from vtgrad.viz.story import Story as Story
from vtgrad.viz.story import StoryData as StoryData
from vtgrad.viz.story import StoryStep as StoryStep
from vtgrad.viz.story import story as story
from vtgrad.viz.story_records import StoryKeys as StoryKeys
from vtgrad.viz.story_records import StoryRecords as StoryRecords
from vtgrad.viz.story_records import StoryWrite as StoryWrite

__all__ = [
    "Dot",
    "StorageMap",
    "Story",
    "StoryData",
    "StoryKeys",
    "StoryRecords",
    "StoryStep",
    "StoryWrite",
    "make_dot",
    "show",
    "storage_map",
    "story",
]
