#!/usr/bin/env python3
# service_page.py: uses the page of puzzle_service in a headless Chromium, as a visitor does.
# SPDX-License-Identifier: MIT
"""service_page.py PUZZLE_SERVICE SCREENSHOT_FOLDER [unittest arguments]

Leaves page-*.png. Exits with 77 (skipped) if Chromium or Selenium is missing, with 1 if
TANDEM_TEST_REQUIRE_ALL=1 asks for them.
"""
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from service_process import PATIENCE, Service  # noqa: E402


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(1 if os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1" else 77)


try:
    from selenium import webdriver
    from selenium.common.exceptions import TimeoutException, WebDriverException
    from selenium.webdriver.chrome.service import Service as Driver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError as missing:
    skip(f"{missing} (Debian: python3-selenium)")

PROGRAM = FOLDER = ""
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--force-device-scale-factor=2", "--window-size=1180,940"]
GOAL = "1 2 3\n4 5 6\n7 8 0"


def open_browser(profile):
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        skip("no chromedriver or chromium (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    for attempts_left in (2, 1, 0):
        try:
            return webdriver.Chrome(service=Driver(driver), options=options)
        except WebDriverException as failure:  # perhaps another program took the port that was chosen for the driver
            if attempts_left == 0:
                raise
            print(f"once more: {failure}", file=sys.stderr)


class Page(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.profile.cleanup)
        cls.browser = open_browser(cls.profile.name)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.service = Service(PROGRAM, "--search-time", "0", "--grace", "0", *self.OPTIONS)
        self.addCleanup(self.service.__exit__, None, None, None)
        self.addCleanup(self.browser.get, "about:blank")
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def visit(self, puzzle=""):
        self.browser.get("about:blank")
        self.browser.get(f"http://127.0.0.1:{self.service.port}/#{puzzle}")
        self.until("the page is ready", lambda: self.state() == "ready" and self.one("#threads").text)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.one(selector).text

    def state(self):
        return self.browser.execute_script("return document.body.dataset.state")

    def until(self, what, condition):
        try:
            WebDriverWait(self.browser, PATIENCE).until(lambda _: condition())
        except TimeoutException:
            self.fail(f"never came: {what}; status {self.text('#status')!r}, error {self.text('#error')!r}")

    def board(self):
        return self.browser.execute_script("return document.getElementById('text').value")

    def place(self, piece):
        shown = self.one(f".piece[data-id='{piece}']")
        return int(shown.get_attribute("data-row")), int(shown.get_attribute("data-col"))

    def choose(self, field, value):
        Select(self.one(f"#{field}")).select_by_value(value)

    def set_board(self, text):
        self.browser.execute_script("document.getElementById('text-panel').open = true")
        area = self.one("#text")
        area.clear()
        area.send_keys(text)
        self.one("#set").click()

    def solve(self):
        self.one("#solve").click()
        self.until("the answer", lambda: self.state() == "done")

    def play_to_the_end(self):
        self.until("the end of the solution", lambda: self.text("#place").split(" / ")[0] == self.text("#place").split(" / ")[1])

    def drag(self, piece, right, down):
        """By so many cells; a piece that is still on its way would be missed."""
        self.until("a board at rest", lambda: self.browser.execute_script("return document.getAnimations().length === 0"))
        cell = self.browser.execute_script("const b = document.getElementById('board');"
                                           "return b.clientWidth / getComputedStyle(b).getPropertyValue('--cols')")
        actions = ActionChains(self.browser, duration=20).click_and_hold(self.one(f".piece[data-id='{piece}']"))
        for _ in range(4):
            actions = actions.move_by_offset(round(right * cell / 4), round(down * cell / 4))
        actions.release().perform()

    def screenshot(self, name):
        self.browser.save_screenshot(os.path.join(FOLDER, f"page-{name}.png"))

    def as_on_a_phone(self, height):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": height, "deviceScaleFactor": 2, "mobile": True})


class Solving(Page):
    def test_tiles_are_solved_by_every_solver_and_the_solution_is_played(self):
        self.visit()
        self.choose("preset", "1")
        start = self.board()
        self.assertEqual(start, "8 6 7\n2 5 4\n3 0 1")
        for each in [option.get_attribute("value") for option in Select(self.one("#solver")).options]:
            self.choose("solver", each)
            self.solve()
            self.assertEqual(self.text("#error"), "", each)
            if each not in ("racing", "sequential"):
                self.assertEqual(self.text("#status"), "Solved in 31 moves.", each)
            self.one("#scrubber").send_keys(Keys.END)
            self.assertEqual(self.browser.execute_script("return document.querySelectorAll('.piece.home').length"), 8)
            self.one("#first").click()
            self.assertEqual(self.text("#place").split(" / ")[0], "0")
        self.choose("solver", "breadth_first")
        self.solve()
        self.play_to_the_end()
        self.assertEqual(self.text("#place"), "31 / 31")
        self.screenshot("tiles")

    def test_klotski_is_solved_in_116_steps_and_can_be_stepped_through(self):
        self.visit("klotski")
        self.solve()
        self.assertEqual(self.text("#status"), "Solved in 116 steps.")
        self.one("#first").click()
        self.assertEqual(self.place("B"), (0, 1))
        self.one("#next").click()
        self.one("#next").click()
        self.one("#back").click()
        self.assertEqual(self.text("#place"), "1 / 116")
        self.screenshot("klotski")
        self.one("#scrubber").send_keys(Keys.END)
        self.assertEqual((self.text("#place"), self.place("B")), ("116 / 116", (3, 1)))
        self.one("#first").click()
        self.assertEqual(self.place("B"), (0, 1))

    def test_what_begins_to_play_can_be_stopped_before_its_first_move(self):
        self.visit("klotski")
        self.solve()
        said = self.browser.execute_script(
            "const press = id => document.getElementById(id).click();"
            "if (document.getElementById('toggle').ariaLabel === 'pause') press('toggle');"
            "press('first'); press('toggle'); press('first');"  # no tick of the clock comes between
            "return document.getElementById('toggle').ariaLabel")
        self.assertEqual((said, self.text("#place")), ("play", "0 / 116"))

    def test_rush_hour_is_solved_in_moves_and_in_steps(self):
        self.visit("rush-hour")
        for metric, answer in (("moves", "Solved in 3 moves."), ("steps", "Solved in 7 steps.")):
            self.choose("metric", metric)
            self.solve()
            self.assertEqual(self.text("#status"), answer)
            self.play_to_the_end()
            self.assertEqual(self.place("A"), (2, 4))
            self.screenshot("rush-hour")
            self.one("#first").click()

    def test_other_problems_show_their_answer(self):
        self.visit("other")
        for problem, answer in (("queens", "♛"), ("queens-count", "73,712 solutions"), ("sudoku", "8 1 2 │ 7 5 3 │ 6 4 9"),
                                ("sudoku-count", "288 grids"), ("uts", "4,130,071 nodes\n3,305,118 leaves\ndepth 10")):
            self.choose("problem", problem)
            self.solve()
            self.assertEqual(self.text("#error"), "", problem)
            self.assertIn(answer, self.text("#other pre"))
        self.screenshot("other")

    def test_a_long_search_tells_of_its_progress_is_seen_in_the_charts_and_can_be_cancelled(self):
        self.visit("other")
        self.choose("problem", "queens-count")
        self.browser.execute_script("document.getElementById('p-n').value = 22")
        self.one("#solve").click()
        self.until("progress", lambda: self.text("#n-nodes") != "–" and self.text("#n-rate") not in ("–", "0"))
        first = self.text("#n-time")
        self.until("more progress", lambda: self.text("#n-time") != first)
        for chart, what in enumerate(("positions/s", "busy", "waiting items", "in flight"), 1):
            line = f".chart:nth-child({chart}) polyline"
            self.until(f"a line of {what}", lambda line=line: len(self.one(line).get_attribute("points").split()) > 3)
            self.assertIn(what, self.one(f".chart:nth-child({chart}) svg").get_attribute("aria-label"))
        self.until("speed", lambda: not self.one(".chart:nth-child(1) svg").get_attribute("aria-label").endswith(" 0"))
        self.assertIn("1 search,", self.text("#link"))
        self.screenshot("progress")
        self.one("#cancel").click()
        self.until("its end", lambda: self.state() == "done")
        self.assertEqual((self.text("#status"), self.text("#error")), ("Cancelled.", ""))
        self.service.wait_for("the search stopped", lambda stats: stats["searches"]["running"] == 0)
        self.assertEqual(self.service.stats()["searches"]["stopped"], 1)
        self.until("an idle service", lambda: "0 searches," in self.text("#link"))

    def test_another_puzzle_can_be_chosen_during_a_search_which_ends_it(self):
        self.visit("other")
        self.browser.execute_script("document.getElementById('problem').value = 'queens-count';"
                                    "document.getElementById('problem').dispatchEvent(new Event('change'));"
                                    "document.getElementById('p-n').value = 22")
        self.one("#solve").click()
        self.service.wait_for("the search", lambda stats: stats["searches"]["running"] == 1)
        self.one("#tabs [data-id=klotski]").click()
        self.service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)
        self.until("an idle page", lambda: self.state() == "done")
        self.solve()
        self.assertEqual(self.text("#status"), "Solved in 116 steps.")


class Boards(Page):
    def test_shuffled_boards_differ_and_have_a_solution(self):
        self.visit()
        seen = set()
        for _ in range(5):
            self.one("#shuffle").click()
            seen.add(self.board())
        self.assertGreater(len(seen), 1)
        for puzzle in ("tiles", "klotski", "rush-hour"):
            self.one(f"#tabs [data-id={puzzle}]").click()
            self.until(puzzle, lambda puzzle=puzzle: self.one(f"#tabs [data-id={puzzle}]").get_attribute("aria-selected") == "true")
            self.one("#shuffle").click()
            self.solve()
            self.assertIn("Solved in", self.text("#status"), self.text("#error"))

    def test_a_preset_takes_as_many_moves_as_its_name_says(self):
        checked = 0
        for puzzle in ("tiles", "klotski", "rush-hour"):
            self.visit(puzzle)
            for index, name in enumerate([option.text for option in Select(self.one("#preset")).options]):
                said = re.search(r"\((\d+ (?:steps|moves))\)", name)
                if said:
                    self.choose("preset", str(index))
                    if puzzle != "tiles":
                        self.choose("metric", said[1].split(" ")[1])
                    self.solve()
                    self.assertEqual((self.text("#status"), self.text("#error")), (f"Solved in {said[1]}.", ""), name)
                    checked += 1
        self.assertGreater(checked, 8)

    def test_tiles_are_moved_by_tap_drag_and_key(self):
        self.visit()
        self.set_board("1 2 3 4 5 6 0 7 8")
        self.until("the board", lambda: self.text("#status") == "A board of your own.")
        self.one(".piece[data-id='1']").click()  # it cannot
        self.assertEqual(self.board(), "1 2 3\n4 5 6\n0 7 8")
        self.one(".piece[data-id='7']").click()
        self.assertEqual(self.board(), "1 2 3\n4 5 6\n7 0 8")
        self.one(".piece[data-id='5']").send_keys(Keys.ARROW_DOWN)
        self.assertEqual(self.board(), "1 2 3\n4 0 6\n7 5 8")
        self.drag("5", 0, -1)
        self.drag("8", -1, 0)
        self.assertEqual((self.board(), self.text("#status")), (GOAL, "Solved by hand."))

    def test_blocks_and_cars_slide_only_where_there_is_room_and_along_their_lane(self):
        self.visit("klotski")
        self.drag("G", 0, 2)
        self.assertEqual(self.place("G"), (4, 1))
        self.drag("B", 0, 1)
        self.assertEqual(self.place("B"), (0, 1))
        self.visit("rush-hour")
        self.drag("C", 2, 0)
        self.assertEqual(self.place("C"), (1, 2))
        self.drag("C", 0, -1)
        self.drag("L", -1, 0)
        self.assertEqual((self.place("C"), self.place("L")), ((1, 2), (0, 4)))

    def test_in_edit_mode_pieces_go_anywhere_and_change_places(self):
        self.visit()
        self.set_board("1 2 3 4 5 6 7 8 0")
        self.until("the board", lambda: self.text("#status") == "A board of your own.")
        self.one("#edit").click()
        self.drag("1", 2, 0)
        self.drag("2", 1, 2)
        self.assertEqual(self.board(), "3 0 1\n4 5 6\n7 8 2")
        self.one("#tabs [data-id=rush-hour]").click()
        self.until("the board", lambda: len(self.board().split()) == 6)
        self.drag("K", 0, -3)  # over others: back it goes
        self.assertEqual(self.place("K"), (4, 3))
        self.drag("K", 1, 0)
        self.assertEqual(self.place("K"), (4, 4))

    def test_what_is_wrong_with_a_board_is_said(self):
        self.visit()
        for text, words in (("1 2 3", "9 numbers"), ("1 2 3 4 5 6 7 8 9", "no blank"), ("1 2 3 4 5 6 7 7 0", "422")):
            self.set_board(text)
            self.until(words, lambda words=words: words in self.text("#error"))
        self.set_board("1 2 3 4 5 6 8 7 0")
        self.until("the board", lambda: self.text("#status") == "A board of your own.")
        self.assertEqual(self.text("#error"), "")
        self.choose("solver", "breadth_first")
        self.solve()
        self.assertEqual(self.text("#status"), "There is no solution.")
        self.one("#tabs [data-id=klotski]").click()
        self.until("klotski", lambda: "/" in self.board().replace("\n", "/") and len(self.board()) == 24)
        for text, words in (("ABBC/ABBC/DEEF/DGHF/I..I", "rectangle"), ("ABBC", "five rows"),
                            ("ABBC/ABBC/DEEF/DEEF/G..H", "422")):
            self.set_board(text)
            self.until(words, lambda words=words: words in self.text("#error"))
        self.screenshot("error")


class SolvedBefore(Page):
    """The list of what was solved: by the page itself, and by others."""

    def entries(self):
        return self.browser.execute_script("return [...document.querySelectorAll('#solved-list .entry')].map(each => "
                                           "[...each.children].map(part => part.textContent))")

    def until_listed(self, count):
        self.until(f"{count} entries", lambda: len(self.entries()) == count)

    def search_for(self, text):
        self.one("#search").clear()
        self.one("#search").send_keys(text)

    def test_an_empty_list_says_so_and_what_is_solved_comes_by_itself(self):
        self.visit("klotski")
        self.until("words", lambda: "Nothing yet" in self.text("#solved-note"))
        self.screenshot("solved-empty")
        self.solve()
        self.until_listed(1)
        self.assertEqual(self.entries()[0][:3], ["Klotski", "ABBC/ABBC/DEEF/DGHF/I..J, breadth first", "116 steps"])
        self.assertFalse(self.one("#solved-note").is_displayed())
        self.service.solve(puzzle="queens", n=8, count=True)  # by somebody else
        self.until_listed(2)
        self.assertEqual(self.entries()[0][2], "92 solutions")

    def test_an_entry_is_shown_again_as_it_was_asked_without_a_new_search(self):
        tiles = {"puzzle": "sliding", "rows": 2, "cols": 4, "start": [1, 0, 2, 4, 5, 6, 3, 7], "goal": [1, 2, 3, 4, 5, 6, 7, 0]}
        own = {"puzzle": "sliding", "rows": 2, "cols": 2, "start": [1, 2, 3, 0], "goal": [1, 2, 0, 3], "solver": "best_first"}
        expected = (  # asked, the tab, what is then said, the solver
            (tiles, "tiles", "Solved in ", "breadth_first"),
            (own, "tiles", "Solved in 1 move.", "best_first"),
            ({"puzzle": "klotski", "metric": "moves"}, "klotski", "Solved in 81 moves.", "breadth_first"),
            ({"puzzle": "rush-hour", "board": "BBBoLo/CCooLM/IAAJoM/IooJoM/EEoKoo/oooKoo", "metric": "steps"}, "rush-hour",
             "Solved in 7 steps.", "breadth_first"),
            ({"puzzle": "sliding", "rows": 3, "cols": 3, "start": [1, 2, 3, 4, 5, 6, 8, 7, 0], "solver": "racing"}, "tiles",
             "There is no solution.", "racing"),
            ({"puzzle": "queens", "n": 8, "count": True}, "other", "Done.", "racing"),
            ({"puzzle": "sudoku", "grid": "12343412214343..", "box": "2x2"}, "other", "Solved in 2 moves.", "racing"),
            ({"puzzle": "uts", "tree": "T1", "seed": 5}, "other", "Done.", "racing"))
        for asked, *_ in expected:
            self.assertEqual(self.service.solve(**asked).status, 200)
        self.service.wait_for("all of them", lambda stats: stats["answers"]["kept"] == len(expected))
        before = self.service.stats()["searches"]["total"]
        self.visit()
        self.until_listed(len(expected))
        for index, (asked, tab, words, solver) in enumerate(reversed(expected)):
            self.browser.find_elements(By.CSS_SELECTOR, ".entry")[index].click()
            self.until(str(asked), lambda words=words: self.text("#status").startswith(words))
            self.assertEqual(self.text("#error"), "")
            self.assertEqual(self.one("#tabs [aria-selected=true]").get_attribute("data-id"), tab)
            self.assertEqual(Select(self.one("#solver")).first_selected_option.get_attribute("value"), solver)
            self.assertIn("known: searched", self.text("#detail"))
            if "steps" in words or "moves" in words and tab == "klotski":
                self.play_to_the_end()
                self.screenshot(f"solved-{tab}")
        self.assertEqual(self.service.stats()["searches"]["total"], before)
        # What is shown is what the next search asks.
        self.one("#first").click()
        self.solve()
        self.assertIn("known: searched", self.text("#detail"))
        self.assertEqual(self.service.stats()["searches"]["total"], before)

    def test_what_is_known_can_be_searched_anew(self):
        self.visit("klotski")
        self.solve()
        self.assertIn("searched by", self.text("#detail"))
        self.assertFalse(self.one("#anew").is_displayed())
        self.one("#first").click()
        self.solve()
        self.assertIn("known: searched just now", self.text("#detail"))
        self.until("some moves", lambda: not self.text("#place").startswith("0 /"))
        self.one("#anew").click()
        self.until("another search", lambda: "searched by" in self.text("#detail"))
        self.assertEqual(self.text("#status"), "Solved in 116 steps.")
        self.assertEqual(self.service.stats()["searches"]["total"], 2)

    def test_the_list_is_searched_and_turned_by_keys_alone(self):
        for n in range(1, 13):
            self.service.solve(puzzle="queens", n=n)
        for n in range(1, 12):
            self.service.solve(puzzle="queens", n=n, count=True)
        self.service.solve(puzzle="klotski")
        self.visit()
        self.until_listed(10)
        self.assertEqual((self.text("#solved-place"), self.text("#solved-count")), ("1 to 10 of 24", "24"))
        self.assertFalse(self.one("#newer").is_enabled())
        self.one("#older").send_keys(Keys.ENTER)
        self.until("the second page", lambda: self.text("#solved-place") == "11 to 20 of 24")
        self.one("#older").send_keys(Keys.SPACE)
        self.until("the last page", lambda: self.text("#solved-place") == "21 to 24 of 24")
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "newer")
        self.search_for("116 KLOTSKI")
        self.until_listed(1)
        self.assertEqual((self.entries()[0][0], self.text("#solved-count")), ("Klotski", "1 found"))
        self.one("#search").send_keys(Keys.TAB, Keys.NULL)
        self.assertIn("entry", self.browser.switch_to.active_element.get_attribute("class"))
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.until("the answer", lambda: self.text("#status") == "Solved in 116 steps.")
        self.search_for("<b>%_no such")
        self.until("words", lambda: "“<b>%_no such” in it" in self.text("#solved-note"))
        self.search_for("queens")
        self.until_listed(10)
        self.browser.find_elements(By.CSS_SELECTOR, ".entry")[0].send_keys(Keys.ARROW_DOWN)
        self.assertEqual(self.browser.execute_script("return [...document.querySelectorAll('.entry')].indexOf(document.activeElement)"), 1)
        self.screenshot("solved-list")

    def test_opening_one_ends_a_search_that_runs(self):
        self.service.solve(puzzle="klotski")
        self.visit("other")
        self.until_listed(1)
        self.choose("problem", "queens-count")
        self.browser.execute_script("document.getElementById('p-n').value = 22")
        self.one("#solve").click()
        self.service.wait_for("the search", lambda stats: stats["searches"]["running"] == 1)
        self.one(".entry").click()
        self.until("the answer", lambda: self.text("#status") == "Solved in 116 steps.")
        self.service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)
        self.assertTrue(self.one("#solve").is_enabled())


class WithoutAnswers(Page):
    OPTIONS = ("--database", "none")

    def test_a_service_that_keeps_nothing_says_so(self):
        self.visit("klotski")
        self.solve()
        self.until("words", lambda: "keeps no answers" in self.text("#solved-note"))
        self.screenshot("solved-none")


@unittest.skipUnless("sqlite" in os.environ.get("TANDEM_EXAMPLES_STORES", ""), "built without tandem::io_sqlite")
class DatabaseAway(Page):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "later")
        self.OPTIONS = ("--database", os.path.join(self.folder, "answers.db"))
        super().setUp()

    def test_a_database_that_is_away_is_said_and_the_list_comes_with_it(self):
        self.visit("klotski")
        self.solve()
        self.assertEqual(self.text("#status"), "Solved in 116 steps.")
        self.until("words", lambda: "The database has been away since" in self.text("#solved-note") and "(1)" in self.text("#solved-note"))
        self.one("#first").click()
        self.solve()
        self.assertIn("known: searched", self.text("#detail"))
        self.browser.execute_script("document.getElementById('solved').scrollIntoView()")
        self.screenshot("solved-away")
        os.mkdir(self.folder)
        self.until("an entry", lambda: self.browser.find_elements(By.CSS_SELECTOR, ".entry"))
        self.until("no more words", lambda: not self.one("#solved-note").is_displayed())


class Everywhere(Page):
    def test_a_phone_shows_all_of_it_without_scrolling_sideways(self):
        for puzzle in ("tiles", "klotski", "rush-hour", "other"):
            self.as_on_a_phone(1400)
            self.visit(puzzle)
            if puzzle != "other":
                self.solve()
                self.until("the list", lambda: self.browser.find_elements(By.CSS_SELECTOR, ".entry"))
            wide = self.browser.execute_script("return document.documentElement.scrollWidth")
            self.assertLessEqual(wide, 360, puzzle)
            cut = self.browser.execute_script(
                "return [...document.querySelectorAll('button, select, input, h1, dd, .chart')].filter(each => "
                "each.offsetParent && (each.getBoundingClientRect().right > 360 || each.getBoundingClientRect().left < 0))"
                ".map(each => each.id || each.className)")
            self.assertEqual(cut, [], puzzle)
            self.screenshot(f"phone-{puzzle}")
        self.browser.execute_script("document.getElementById('solved').scrollIntoView()")
        self.screenshot("phone-solved")

    def test_it_is_dark_where_that_is_wished_and_still_where_motion_is_not(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark"}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        self.visit("klotski")
        self.solve()
        self.assertEqual((self.text("#place"), self.text("#toggle")), ("0 / 116", "▶"))
        ground = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(map(int, ground[4:-1].split(","))), 60)
        self.screenshot("dark")

    def test_everything_comes_from_the_service_and_every_control_has_a_name(self):
        self.visit()
        loaded = self.browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
        self.assertGreater(len(loaded), 5)
        self.assertEqual([name for name in loaded if not name.startswith(f"http://127.0.0.1:{self.service.port}/")], [])
        for puzzle in ("tiles", "klotski", "rush-hour", "other"):
            self.visit(puzzle)
            for control in self.browser.find_elements(By.CSS_SELECTOR, "button, select, input, textarea, [role=img]"):
                if control.is_displayed():
                    self.assertTrue(control.accessible_name, control.get_attribute("outerHTML"))

    def test_a_service_that_has_gone_is_noticed(self):
        self.visit()
        self.service.stop()
        self.until("the end of the events", lambda: "not connected" in self.text("#link"))
        self.solve()
        self.assertIn("does not answer", self.text("#error"))


if __name__ == "__main__":
    PROGRAM, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
